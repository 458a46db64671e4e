"""WHERE do rows live? One store over SQLAlchemy Core; a back end is a folder with what its database needs."""
