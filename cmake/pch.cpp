// Carries the precompiled header that every file of the compiler shares.
