// Package checkout gives a run a folder of its own to work in: a fresh checkout of a
// git repository, or an empty folder. Its changes are kept in snapshots, from which
// another worker continues, and come back as a branch or a patch.
//
// The tools of a run may change anything in the checkout, its .git folder included. So
// each checkout has a .git folder of its own, which shares nothing but objects with the
// cached clone. Snapshots, commits and pushes are made by a second repository, which
// the run does not see. Git runs no hooks, no filters (such as those of LFS), and no
// other programs that a checkout configures. Addresses with their secrets are stored
// nowhere.
//
// A snapshot keeps the files with their content, links and executable bits, the commits of
// local branches, and HEAD. It does not keep what was staged, files that git ignores and
// does not track, and empty folders. Nor does it keep tags, stashes, unfinished merges,
// and repositories within the folder, such as submodules.
//
// It imports agent/remote, distributed/records for a limit, and mcpclient/child to run
// git. Start with [Open] in checkout.go, then snapshot.go and handback.go.
package checkout
