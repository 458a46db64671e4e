"""HOW is DataHub spoken to? Over GraphQL: its client, its names, what stands there, and how it is changed."""
