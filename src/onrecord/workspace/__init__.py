"""WHAT is kept besides memories? Conversations, their artifacts, the scratchpads of agents, and how each agent is set."""
