"""What people read: research, runs, pages and requests as lines of text, and curves drawn with characters."""
