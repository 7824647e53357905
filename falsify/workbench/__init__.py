"""The research workbench: tickets, nodes, runs, evidence, decisions and approvals, as facts and decisions over them."""
