package claude

import (
	"slices"
	"testing"
)

func TestDescendants(t *testing.T) {
	table := []procInfo{
		{procID{1, "a"}, 0},
		{procID{5, "c"}, 3},
		{procID{2, "b"}, 1},
		{procID{3, "b"}, 2},
		{procID{4, "b"}, 2},
		{procID{6, "d"}, 5},
		{procID{7, "e"}, 1},
		{procID{8, "f"}, 8}, // its own parent, as the table may say while it changes
		{procID{9, "g"}, 10},
		{procID{10, "g"}, 9},
	}
	tests := []struct {
		roots, want []int
	}{
		{[]int{2}, []int{3, 4, 5, 6}},
		{[]int{5, 3}, []int{6}},
		{[]int{6}, nil},
		{[]int{8, 9}, []int{10}},
		{[]int{99}, nil},
		{nil, nil},
	}
	for _, test := range tests {
		var got []int
		for _, id := range descendants(table, test.roots...) {
			got = append(got, id.pid)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("descendants of %v are %v, expected %v", test.roots, got, test.want)
		}
	}
}
