// Package nesting bounds how deep JSON with comments may nest, for parsers that recurse
// without a bound of their own. It imports no other package of replan. Start with [Check].
package nesting
