// Package plans keeps plans: one file a plan, <id>.json, in the form of the
// plan file. Files are replaced whole and are on disk when a method returns;
// folder and files are readable by the user alone.
//
// It imports planning/plan and internal/wholefile. Start reading at [Store].
package plans
