"""The commands of the command line, one module a group. A module imports nothing heavy until it is called."""
