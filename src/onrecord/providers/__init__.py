"""WHO thinks for us? Scrubbers now; embedders and advisors have their place here."""
