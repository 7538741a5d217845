// Package op is what all operators of the workspace have in common. That is how they are
// shown to a client, how their arguments are read and checked, and how they answer.
//
// An operator is an [Op]: a function with a type for its arguments and one for its
// result, from which the schemas are made. The package knows no files and no
// operator; of this program it imports planning and internal/redact. Start reading
// at [Op] and [Tool.Handle].
package op
