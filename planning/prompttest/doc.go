// Package prompttest has the briefs and the replies of models that tests of planning share.
package prompttest
