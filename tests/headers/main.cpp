/// @file main.cpp
/// The test is that the headers' translation units compile and link together; there is nothing left to run.
int main() { return 0; }
