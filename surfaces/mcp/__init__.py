"""The Model Context Protocol: the catalogues of tools, served to agents over stdio and HTTP."""
