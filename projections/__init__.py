"""The read side: folds of the log. Whatever is here can be deleted and rebuilt."""
