// Package plans stores plans, each as a plan file named <id>.json. Files are
// replaced atomically and are on disk when a method returns. Only the user can
// read the folder and its files.
//
// It imports planning/plan and internal/wholefile. Start reading at [Store].
package plans
