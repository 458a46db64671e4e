"""HOW is it started where its command is not on the path? `python -m onrecord` is the command `onrecord`."""

from onrecord.surfaces.cli import main

if __name__ == "__main__":
    main()
