"""RFC 9113 sections 5.3 and 6.3: PRIORITY, which is deprecated and still has a form."""
import expect
import frames
from case import case


@case("RFC 9113 6.3")
def priority_on_stream_0(c):
    """PRIORITY on stream 0 is a connection error PROTOCOL_ERROR."""
    c.send(frames.priority(0))
    expect.connection_error(c, frames.PROTOCOL_ERROR)


@case("RFC 9113 6.3", each={f"{size} bytes": size for size in (0, 4, 6)})
def priority_of_wrong_size(c, size):
    """A PRIORITY of other than 5 bytes is a stream error FRAME_SIZE_ERROR."""
    stream = c.open()
    c.send(frames.frame(frames.PRIORITY, 0, stream, b"\0\0\0\0\1\1"[:size]))
    expect.stream_error(c, stream, frames.FRAME_SIZE_ERROR, connection=True)


@case("RFC 9113 5.3.2", each={"an idle stream": 77, "stream 0": 0, "an even stream": 8, "itself exclusively": frames.RESERVED_BIT | 77})
def priority_depends_on(c, depends_on):
    """Priority signals of the old scheme are ignored, whatever stream they depend on."""
    c.send(frames.priority(1, depends_on, 255))
    expect.serves(c)


@case("RFC 9113 5.3.2")
def many_priorities(c):
    """Priorities of streams that are never opened cost the connection nothing."""
    c.send(*(frames.priority(stream, 0, 200) for stream in range(3, 1003, 2)), name="500 PRIORITY")
    expect.serves(c)
