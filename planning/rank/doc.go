// Package rank chooses the best of several drafts of a plan by fixed criteria, without
// a model. It imports planning/plan and internal/untrusted. Start reading at [Best].
package rank
