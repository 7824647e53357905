"""Pages of the brain and the outside: folders, git histories, and pages as evidence."""
