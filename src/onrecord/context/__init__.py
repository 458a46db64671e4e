"""WHAT is the agent told unasked?"""
