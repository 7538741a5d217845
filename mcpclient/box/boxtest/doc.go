// Package boxtest makes places with a box for tests: a home folder with a workspace in
// it, and what lies outside of the workspace. It imports nothing of this program but mcpclient/box, so that
// the test programs that start again and again as helpers of the box stay small. Start
// reading at [New].
package boxtest
