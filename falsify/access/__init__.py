"""Who may come in from outside: tokens, made and revoked by people."""
