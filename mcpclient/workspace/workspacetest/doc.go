// Package workspacetest serves a workspace to tests: operators over a folder of their
// own, and a client that speaks to them as a plan does. Only tests import it. Start
// reading at [New].
package workspacetest
