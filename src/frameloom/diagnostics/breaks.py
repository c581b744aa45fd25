"""The kinds of graph break, and the reasons for running a frame eagerly: one row each.

The hundreds of a code say what the break is about (`GROUPS`).  A code never changes its meaning and is never used again;
tools, tests and `stats()` key on it.  Each row has a page `docs/breaks/<code>.md`, and in `tests/messages` a program that
shows it with the message it gives.
"""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

GROUPS: Mapping[str, str] = MappingProxyType({
    "FL0": "the language",
    "FL1": "calls",
    "FL2": "values known only at run time",
    "FL3": "features of torch",
    "FL4": "asked for by the program",
    "FL5": "state and identity",
    "FL9": "running eager",
})


class BreakKind(NamedTuple):
    """One reason why capture stops.

    code: `FL` and three digits.  title: what happened, without subject, fit for the first line of a message.
    explanation: why that cannot go into a graph.  help: what the user can do about it.
    """

    code: str
    title: str
    explanation: str
    help: str

    @property
    def group(self) -> str:
        """What the kind is about: a value of `GROUPS`."""
        return GROUPS[self.code[:3]]

    @property
    def eager(self) -> bool:
        """Whether the whole frame runs eagerly, rather than being split at an instruction."""
        return self.code.startswith("FL9")

    @property
    def page(self) -> str:
        """The page of this kind, as a path from the root of the repository."""
        return f"docs/breaks/{self.code}.md"


ROWS = (
    # FL0: the language
    BreakKind(
        "FL001", "instruction is not captured",
        "The interpreter has no meaning for this bytecode instruction, so CPython runs it.",
        "move the statement out of the compiled function, or out of its hot part"),
    BreakKind(
        "FL002", "await, async for or async with in captured code",
        "An asynchronous operation hands control to an event loop, which the compiler cannot follow.",
        "compile the synchronous function that the coroutine calls, not the coroutine"),
    BreakKind(
        "FL004", "class is made in captured code",
        "A class body runs its own code in a fresh namespace, and the class that it makes has an identity of its own.",
        "define the class outside the compiled function"),
    BreakKind(
        "FL005", "exception caught in captured code becomes visible",
        "The exception was raised symbolically: no real frames stand behind it until it is raised again by CPython.",
        "read the exception's type and arguments, or handle it outside the compiled function"),
    BreakKind(
        "FL006", "calls are nested too deep to be inlined",
        "Inlining follows every call; a recursion without visible end would make a graph without end.",
        "turn the recursion into a loop, or mark the function with frameloom.disable"),
    BreakKind(
        "FL007", "trace grows too long",
        "Loops are unrolled, and the trace reached config.trace_limit instructions; a longer graph would cost more "
        "than it gains.",
        "compile the body of the loop instead of the loop"),
    BreakKind(
        "FL008", "name is looked up in builtins of the program's own",
        "The module of the function has a __builtins__ of its own, whose names can change without anybody knowing.",
        "give the module the ordinary builtins, or bind the name in the module"),

    # FL1: calls
    BreakKind(
        "FL101", "call of a function implemented in C without a rule",
        "Its effects and its result cannot be known without running it.",
        "call it outside the compiled function; where its result never changes, call it in a function marked with "
        "frameloom.assume_constant_result"),
    BreakKind(
        "FL102", "method of a type implemented in C without a rule",
        "Its effects and its result cannot be known without running it.",
        "convert to a list, dict, set, tuple or str first, or do this outside the compiled function"),
    BreakKind(
        "FL103", "attribute implemented in C without a rule",
        "Reading it runs C code whose result cannot be guarded.",
        "read it once outside the compiled function and pass the value"),
    BreakKind(
        "FL104", "input or output",
        "Reading, writing and waiting happen in the world, at each call and in order.",
        "move input and output out of the compiled function"),
    BreakKind(
        "FL105", "text is written whose making runs the program's own code",
        "print, warnings and logging are replayed in order when their arguments are plain; here a handler of the program would run, or a "
        "__str__ or __repr__ that does more than make a text.",
        "write plain values, or write outside the compiled function"),
    BreakKind(
        "FL106", "import of a module that is not loaded yet",
        "The import runs the module's code, once, with effects everywhere.",
        "import the module at the top of the file"),
    BreakKind(
        "FL107", "exec, eval or compile",
        "The code that runs is not known before it runs, and it can write to the frame's names.",
        "make the function once, outside the compiled function"),
    BreakKind(
        "FL108", "frame or call stack is looked at",
        "Inlined calls have no frames of their own while they are captured.",
        "pass the information as an argument"),
    BreakKind(
        "FL109", "time, clock or sleep",
        "The answer differs at each call, and waiting is an effect.",
        "measure around the compiled function instead of inside"),
    BreakKind(
        "FL110", "thread, lock or process",
        "Other threads see the effect at once, so it can be neither delayed nor merged.",
        "synchronise outside the compiled function"),
    BreakKind(
        "FL111", "setting of the interpreter is changed or asked",
        "The garbage collector, the recursion limit, tracing and their kin act on the whole process, the compiler included.",
        "set it once before the compiled function runs"),
    BreakKind(
        "FL112", "function implemented in C would call the program's own code",
        "The call back would run untraced in the middle of a C function.",
        "write the loop in Python, or hand over a function that needs no Python of the program"),
    BreakKind(
        "FL113", "weak reference or finaliser is made",
        "When it fires depends on when objects die, which capture must not move.",
        "make it outside the compiled function"),

    # FL2: values known only at run time
    BreakKind(
        "FL201", "branch depends on tensor data",
        "Which way the program goes is known only when the tensor has been computed.",
        "use torch.where, or mark the branch with frameloom.graph_break()"),
    BreakKind(
        "FL202", "tensor is turned into a Python number",
        "The number is known only when the tensor has been computed.",
        "keep the value in a tensor, or read it after the compiled function; config.capture_scalar_outputs keeps whole numbers in the graph"),
    BreakKind(
        "FL203", "shape of a result depends on tensor data",
        "Everything computed from the result would have a size that is known only at run time.",
        "use a form with a fixed shape, such as torch.where or a mask; config.capture_dynamic_output_shape_ops keeps such sizes in the graph"),
    BreakKind(
        "FL204", "tensor is used as an index of a Python sequence",
        "Which element is meant is known only when the tensor has been computed.",
        "stack the sequence into a tensor and index that"),
    BreakKind(
        "FL205", "tensor is turned into text or bytes",
        "The text is known only when the tensor has been computed.",
        "format the tensor after the compiled function"),
    BreakKind(
        "FL206", "memory of a tensor is looked at",
        "Addresses and storages belong to the tensor that the graph will make, not to the one in the trace.",
        "look at it outside the compiled function"),
    BreakKind(
        "FL207", "branch depends on a value drawn or computed at run time",
        "The value comes from a random generator or from a number that changes between calls; guarding it would recompile "
        "at every call.",
        "decide with a tensor operation, or draw the value before the compiled function"),
    BreakKind(
        "FL208", "number of steps depends on tensor data",
        "How often the loop runs is known only when the tensor has been computed.",
        "run a fixed number of steps and mask, or leave this loop outside"),
    BreakKind(
        "FL209", "question about a size whose answer is not known",
        "The size varies between calls or follows from tensor data, and no relation decides the question.",
        "keep this size fixed (dynamic=False), or state the relation with torch._check"),

    # FL3: features of torch
    BreakKind(
        "FL301", "autograd.Function that does more than compute tensors",
        "A backend may run its forward and backward once, while it compiles: they may use nothing but their arguments, and change nothing.",
        "pass every tensor as an argument, and keep what else it does outside; or write it with differentiable operations"),
    BreakKind(
        "FL302", "autocast setting that is not modelled",
        "Inside one region torch keeps casts of parameters, and takes them for casts to whatever dtype another region asks for.",
        "use one dtype in regions inside each other, or cache_enabled=False; torch.is_autocast_enabled(device) instead of its old forms"),
    BreakKind(
        "FL303", "functional transform of torch.func",
        "The function that vmap, grad, jvp and their kin are given becomes a graph of its own: it may do nothing but compute tensors.",
        "compute tensors only in the function; or apply the transform outside: transform the compiled function's caller"),
    BreakKind(
        "FL304", "NumPy array",
        "Only what torch computes bit for bit as NumPy does is in the graph; NumPy itself does the rest.",
        "use the torch operation of the same meaning"),
    BreakKind(
        "FL305", "tensor subclass or override of torch functions",
        "Operations on it run Python of its own, which is not modelled.",
        "unwrap to a plain tensor before the compiled function"),
    BreakKind(
        "FL306", "gradients are computed",
        "backward() and grad() run the autograd engine and write to .grad of every leaf.",
        "compile the forward and the loss, and call backward() outside"),
    BreakKind(
        "FL307", "state of a random generator is read or set",
        "Seeds and states act at once on every later draw of the process.",
        "seed before the compiled function"),
    BreakKind(
        "FL308", "autograd state of a tensor is changed",
        "Whether a tensor is a leaf, requires grad or has a grad is seen by every other holder of it.",
        "set it up before the compiled function"),
    BreakKind(
        "FL309", "operator cannot be computed on shapes alone",
        "Capture needs the shape and dtype of the result without its data; this operator gives no way to tell.",
        "register a fake implementation for the operator (torch.library.register_fake)"),
    BreakKind(
        "FL310", "storage of a tensor is replaced or resized",
        "set_, resize_, .data and their kin change what other tensors see.",
        "make a new tensor instead, or do it outside"),
    BreakKind(
        "FL311", "tensor has a layout that is not modelled",
        "Sparse, quantised, nested and other special layouts do not follow the rules of strides.",
        "convert to a dense tensor before the compiled function"),
    BreakKind(
        "FL312", "device, stream or event is controlled",
        "Streams, events, synchronisation and devices in force order work outside the graph.",
        "do it outside the compiled function"),
    BreakKind(
        "FL313", "TorchScript or traced function",
        "Its body is TorchScript's, not Python's.",
        "compile the original Python function instead"),
    BreakKind(
        "FL314", "higher-order operator",
        "Operators that take functions have them captured as graphs, which may do nothing but compute new tensors.",
        "take out of its functions what is no computation of new tensors, or write its branch or loop in Python"),
    BreakKind(
        "FL315", "distributed communication",
        "Collectives meet other processes, in an order that all of them must share.",
        "communicate outside the compiled function"),
    BreakKind(
        "FL316", "module hook that is not modelled",
        "Backward hooks of modules wrap inputs and outputs in functions of autograd.",
        "use a tensor hook (register_hook), or remove the hook"),
    BreakKind(
        "FL317", "global setting of torch is changed",
        "Default dtype, thread counts and backend flags act on the whole process.",
        "set it once before the compiled function runs"),
    BreakKind(
        "FL318", "input that overlaps another is written to, and viewed",
        "A backend rewrites writes to memory that inputs share, and cannot make views of it behind them.",
        "write to a copy, or make the views in the caller"),
    BreakKind(
        "FL319", "context manager of torch that is not modelled",
        "What it changes for the operations inside is not known to the compiler.",
        "enter it outside the compiled function"),
    BreakKind(
        "FL320", "function of another compiler",
        "What torch.compile or its marks made of it is not Python to be captured.",
        "hand the original function to frameloom.compile"),

    # FL4: asked for by the program
    BreakKind(
        "FL321", "operation writes across memory that it also reads",
        "Eager torch decides whether such an operation is refused; a backend that rewrites writes would not ask.",
        "write to a copy, or read from one"),
    BreakKind(
        "FL322", "recurrent layer under a backend that makes backward graphs",
        "Such a backend takes the layer apart into the operations of each step in time, for one length alone.",
        "nothing need be done: torch's own kernel runs between the graphs"),
    BreakKind(
        "FL401", "frameloom.graph_break() was called",
        "The program asks for a break here.",
        "remove the call when the break is no longer wanted"),
    BreakKind(
        "FL402", "function is marked with frameloom.disable",
        "The program asks that this function runs eagerly.",
        "remove the mark when the function may be captured"),

    # FL5: state and identity
    BreakKind(
        "FL501", "result depends on where objects lie in memory",
        "Addresses differ from run to run and cannot be guarded; id(), default texts of objects and the order of sets "
        "follow from them.",
        "compare by value, sort a set before going through it, or give the class a __repr__"),
    BreakKind(
        "FL502", "iterator that cannot be looked into is advanced",
        "An iterator has no way back: what the trace took from it, the program would miss.",
        "make the iterator inside the compiled function, or pass the sequence"),
    BreakKind(
        "FL503", "object whose end shows is made or let go of",
        "Its __del__ must run, and weak references to it must end, at the very moment when the last reference goes; a trace "
        "has no such moment.",
        "make the object outside the compiled function, and let go of it there"),
    BreakKind(
        "FL504", "object made in captured code cannot be rebuilt",
        "The object outlives the trace, and its type keeps state that no known operation restores.",
        "make the object outside the compiled function"),
    BreakKind(
        "FL505", "write to an object whose storage is not modelled",
        "The write could not be replayed exactly.",
        "write outside the compiled function, or keep the state in an attribute, list or dict"),
    BreakKind(
        "FL506", "state that belongs to the thread or its context",
        "What a threading.local holds as a whole, and what context tokens restore, belongs to the running thread and "
        "not to the function.",
        "read single attributes, which are captured, or do it outside the compiled function"),
    BreakKind(
        "FL507", "key whose equality is implemented in C outside the known types",
        "Looking up the key would run code that the trace cannot see.",
        "use str, int, tuple or enum keys"),
    BreakKind(
        "FL508", "state of the whole process is changed",
        "Environment variables, loaded modules and warning filters are seen by everybody at once.",
        "change it before the compiled function runs"),

    # FL9: running eager
    BreakKind(
        "FL901", "internal error of frameloom",
        "A fault of the compiler, not of the program. The call ran eagerly, so its result is right.",
        "please report it with the file named above; FRAMELOOM_STRICT=1 raises the error instead"),
    BreakKind(
        "FL902", "recompile limit is reached",
        "Each call met a new value of something that was guarded; more entries would cost more than they gain.",
        "make the guarded value an argument that is a tensor, or raise config.recompile_limit; FRAMELOOM_LOGS=recompiles tells what changed"),
    BreakKind(
        "FL903", "a debugger or tracer is active",
        "sys.settrace must see every line, and compiled code has others.",
        "remove the tracer to run compiled"),
    BreakKind(
        "FL904", "another frame evaluator is in charge",
        "Another engine set its hook above the one of frameloom and does not call it, so frames are not seen.",
        "remove the other engine, or let it install its hook before a compiled function runs"),
    BreakKind(
        "FL905", "stack is nearly exhausted",
        "A capture needs room below it, of the recursion limit and of the C stack; too little was left here.",
        "compile a function that is not so deep in a recursion, or raise sys.setrecursionlimit"),
    BreakKind(
        "FL906", "region gave no captures",
        "A thousand frames below this call were looked at and none held an operation worth capturing.",
        "nothing is lost; frameloom.reset() makes the compiler look again"),
    BreakKind(
        "FL907", "this Python is not supported",
        "Frames are laid out differently in each version of CPython, and the compiler knows 3.11, 3.12 and 3.13 with the GIL, "
        "in the main interpreter.",
        "run on CPython 3.11, 3.12 or 3.13"),
    BreakKind(
        "FL908", "generator, coroutine or asynchronous generator as compiled function",
        "Its frame is suspended and resumed by its caller; it keeps its own code, and what it calls is captured.",
        "compile the functions that it calls"),
    BreakKind(
        "FL910", "mode of torch that makes capture meaningless is active",
        "Under a dispatch mode, a functional transform or another tracer each operation must be seen as it happens.",
        "call the compiled function outside the mode"),
    BreakKind(
        "FL911", "compilation is disabled",
        "The program asked for eager running with disable=True.",
        "remove disable=True"),
    BreakKind(
        "FL912", "graph failed at run time and the call was run again eagerly",
        "An operation refused its data. Nothing had been changed yet, so the program ran from its start and raised its own "
        "exception.",
        "nothing is lost but time; check the operation's arguments before calling it"),
    BreakKind(
        "FL913", "compiled extension is not available",
        "The native part of frameloom was not built for this Python, and without it no frame can be hooked.",
        "install with a C compiler at hand: pip install --force-reinstall frameloom"),
    BreakKind(
        "FL914", "call while the compiler itself is at work",
        "Code that runs below a capture, a guard or a backend belongs to the compiler's own work.",
        "nothing is lost"),
    BreakKind(
        "FL915", "built-in name is replaced",
        "The compiler is written in Python, and would do something else itself while builtins holds another len or isinstance.",
        "replace the name in the module that uses it, not in builtins"),
    BreakKind(
        "FL916", "stance that captures nothing",
        "The program has set a stance under which compiled functions run as they are, or go on with the entries that they have.",
        "leave the stance, or capture what is needed before it is set"),
)

BREAKS: Mapping[str, BreakKind] = MappingProxyType({row.code: row for row in ROWS})
"""Break kinds by code."""
