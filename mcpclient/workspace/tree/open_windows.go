package tree

// NonBlocking makes an open of a pipe return at once, without a writer.
const NonBlocking = 0 // there are no pipes among files
