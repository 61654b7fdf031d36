import Testing
import TomboloChangesets
import TomboloModel

@testable import TomboloSyncProtocol

/// Changesets read straight from the bytes, compared with those decoded through Protocol Buffers messages.
@Suite struct ChangesetReaderTests {
    let schema: Schema
    let codec: MessageCodec

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
    }

    private func quick(_ bytes: [UInt8], validates: Bool = false) -> Changeset? {
        guard (try? WireShape.changeset.check(bytes, "changeset")) != nil else { return nil }
        var reader = ChangesetReader(bytes, schema: schema, validates: validates)
        return reader.changeset(bytes.indices)
    }

    @Test(
        "changesets that this library has encoded are read the same as through messages",
        arguments: 1...200 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = RandomMessages(schema: schema, seed: seed)
        let changeset = random.changeset(Int64(seed))
        let bytes = codec.encode(changeset)
        #expect(try codec.decodeChangeset(bytes) == changeset)
        if let quick = quick(bytes) { #expect(quick == changeset) }
    }

    @Test(
        "damaged changesets are read the same as through messages, or not at all",
        arguments: 1...100 as ClosedRange<UInt64>)
    func damaged(seed: UInt64) throws {
        var random = RandomMessages(schema: schema, seed: seed)
        let bytes = codec.encode(random.changeset(Int64(seed)))
        var generator = Numbers(state: seed)
        for _ in 0..<200 {
            var damaged = bytes
            for _ in 0...generator.next(below: 3) {
                let place = generator.next(below: damaged.count)
                switch generator.next(below: 3) {
                case 0: damaged[place] = UInt8(generator.next(below: 256))
                case 1: damaged.remove(at: place)
                default: damaged.insert(UInt8(generator.next(below: 256)), at: place)
                }
                if damaged.isEmpty { damaged = [0] }
            }
            guard let quick = quick(damaged) else { continue }
            #expect(try codec.decodeChangeset(damaged) == quick, "seed \(seed): \(damaged)")
        }
    }

    @Test("each changeset of an upload names its own classes, or those of the one before")
    func names() throws {
        var random = RandomMessages(schema: schema, seed: 3)
        var changesets: [Changeset] = []
        for number in 1...50 {
            var next = random.changeset(Int64(number))
            next.number = Int64(number)
            if number.isMultiple(of: 2) { next.instructions = changesets[number - 2].instructions }
            changesets.append(next)
        }
        #expect(try codec.decodeClientMessage(codec.encode(.upload(changesets))) == .upload(changesets))
    }

    private struct Numbers {
        var state: UInt64

        /// SplitMix64.
        mutating func next(below bound: Int) -> Int {
            state &+= 0x9e37_79b9_7f4a_7c15
            var value = state
            value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
            return Int((value ^ (value >> 31)) % UInt64(bound))
        }
    }
}
