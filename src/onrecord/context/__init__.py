"""WHAT does an agent get without asking?"""
