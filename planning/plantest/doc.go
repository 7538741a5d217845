// Package plantest has the tools and the goals that tests of planning share.
package plantest
