"""The stories that `falsify demo` plays."""
