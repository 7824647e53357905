"""What people do in research beside the tools: contracts, tickets, nodes and decisions by hand."""
