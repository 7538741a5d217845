package workspace

const nonBlocking = 0 // there are no pipes among files
