package workspace

import "context"

// CountReferences asks for references without a client between.
func CountReferences(ctx context.Context, o *Operators, symbol string) (int, error) {
	found, err := o.refer(ctx, symbol, "")
	return len(found.References), err
}
