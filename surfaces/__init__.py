"""How people and agents reach Falsify: thin skins on one Workspace."""
