package tree

// NonBlocking has the opening of a pipe not wait for who writes to it.
const NonBlocking = 0 // there are no pipes among files
