"""Functions with several results, and named tuples of torch."""
import torch

from tests.pytorch.programs.program import floats, program, two


@program()
def maximum_with_a_dimension(x):
    values, indices = x.max(dim=1)
    return values, indices, x.max(0), x.min(0).indices, torch.max(x)


@program()
def largest_and_sorted(x):
    top = x.topk(2, dim=-1)
    return top.values, top.indices, top, x.sort(descending=True), torch.sort(x, 0)[0], x.argsort()


@program()
def other_named_tuples(x):
    return x.mode(0), x.median(1).values, x.kthvalue(1), torch.aminmax(x), x.cummax(0)


@program()
def statistics(x):
    deviation, mean = torch.std_mean(x, dim=0)
    return (x - mean) / (deviation + 1), torch.var_mean(x)


@program(graphs=None)
def unique_values(x):
    return torch.unique(x > 0, return_counts=True)


@program(lambda: (floats(3, 3),), graphs=1)
def decompositions(x):
    symmetric = x @ x.t() + 100 * torch.eye(3)
    return torch.linalg.cholesky(symmetric), torch.linalg.solve(symmetric, x), torch.linalg.slogdet(symmetric)


@program(two)
def several_kinds_of_result(x, y):
    return {"sum": x + y, "list": [x * y, (x - y, None)], "number": 3, "name": "two", "size": x.shape}


@program()
def nothing(x):
    x + 1


@program()
def generator_consumed_inside(x):
    return torch.cat([row[None] for row in (x[i] for i in range(x.shape[0]))]), sum(float(n) for n in (1, 2))


@program()
def nested_function_results(x):
    def halves(t):
        middle = t.shape[0] // 2
        return t[:middle], t[middle:]

    (a, b), c = halves(x), halves(x + 1)
    return a, b, c
