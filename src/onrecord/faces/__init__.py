"""HOW do other systems' users speak to us? Each face translates one vocabulary to our operations and back."""
