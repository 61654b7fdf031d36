import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// Traces travel with changesets and batches, and don't affect them.
@Suite struct TraceparentTests {
    private static let codec = MessageCodec(schema: try! SampleSchema.make())
    private static let line = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static func changeset(_ traceparent: String?) -> Changeset {
        var random = RandomMessages(schema: codec.schema, seed: 7)
        var changeset = random.changeset(7)
        changeset.traceparent = traceparent
        return changeset
    }

    private static func received(_ changeset: Changeset) throws -> Changeset? {
        guard case .upload(let changesets) = try codec.decodeClientMessage(codec.encode(.upload([changeset]))) else {
            return nil
        }
        return changesets.first
    }

    @Test("a changeset's trace arrives, and isn't part of its fingerprint")
    func changesets() throws {
        let traced = Self.changeset(Self.line)
        let plain = Self.changeset(nil)
        #expect(try Self.received(traced) == traced)
        #expect(try Self.received(plain) == plain)
        #expect(traced.fingerprint(in: Self.codec.schema) == plain.fingerprint(in: Self.codec.schema))
    }

    @Test("a trace that is too long is dropped, and the changeset accepted without it")
    func tooLong() throws {
        let longest = String(repeating: "x", count: MessageCodec.maximumTraceparentByteCount)
        #expect(try Self.received(Self.changeset(longest))?.traceparent == longest)
        #expect(try Self.received(Self.changeset(longest + "x")) == Self.changeset(nil))
    }

    @Test("a device accepts no more traces in a batch than allowed")
    func batches() throws {
        func received(_ traceparents: [String]) throws -> [String]? {
            let end = BatchEnd(
                position: .none, serverTime: Stamp(microseconds: 1), acknowledged: 0, frameCount: 0,
                traceparents: traceparents)
            guard case .end(let end) = try Self.codec.decodeServerMessage(Self.codec.encode(.end(end))) else {
                return nil
            }
            return end.traceparents
        }
        #expect(try received([Self.line]) == [Self.line])
        let many = Array(repeating: Self.line, count: MessageCodec.maximumTraceparentCount + 1)
        #expect(try received(many)?.count == MessageCodec.maximumTraceparentCount)
        #expect(try received([String(repeating: "x", count: 129)]) == [])
    }
}
