// Package retrieval ranks the tools of a catalog by how well they fit a goal. So a prompt
// shows first what a plan will need.
//
// Start with [Rank]. It compares words alone, by BM25, without a model. Equal
// questions get equal answers, and nothing is kept between calls. The package
// imports planning/plan alone.
package retrieval
