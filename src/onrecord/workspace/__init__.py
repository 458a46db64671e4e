"""WHAT is kept beside memories? Conversations, the files and working notes of agents, and how each agent is set."""
