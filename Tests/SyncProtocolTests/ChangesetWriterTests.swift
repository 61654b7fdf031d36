import Foundation
import RandomValues
import SwiftProtobuf
import Testing
import TomboloChangesets
import TomboloModel

@testable import TomboloSyncProtocol

@Suite("Changeset writer")
struct ChangesetWriterTests {
    let schema: Schema
    let codec: MessageCodec

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
    }

    @Test(
        "The bytes equal SwiftProtobuf's for the same message", arguments: 1...200 as ClosedRange<UInt64>)
    func canonical(seed: UInt64) throws {
        var random = RandomMessages(schema: schema, seed: seed)
        let changesets = (1...4 as ClosedRange<Int64>).map { random.changeset($0) }
        for changeset in changesets {
            let bytes = codec.encode(changeset)
            let message = try WireChangeset(serializedBytes: bytes)
            #expect(message.unknownFields == UnknownStorage(), "seed \(seed)")
            #expect(try message.serializedBytes() == bytes, "seed \(seed)")
            #expect(try codec.decodeChangeset(bytes) == changeset, "seed \(seed)")
        }
        let upload = codec.encode(.upload(changesets))
        let message = try WireClientMessage(serializedBytes: upload)
        #expect(message.upload.changesets.count == changesets.count)
        #expect(try message.serializedBytes() == upload, "seed \(seed)")
    }

    @Test("Instructions can be read and replaced any number of times", arguments: 1...100 as ClosedRange<UInt64>)
    func replacing(seed: UInt64) throws {
        var random = RandomMessages(schema: schema, seed: seed)
        var expected = (1...6 as ClosedRange<Int64>).flatMap { random.changeset($0).instructions }
        var writer = ChangesetWriter(schema: schema, expected)
        for position in expected.indices { #expect(writer.instruction(at: position) == expected[position]) }
        for replacement in random.changeset(7).instructions where !expected.isEmpty {
            let position = random.int(0...expected.count - 1)
            expected[position] = replacement
            writer.replace(at: position, with: replacement)
            #expect(writer.instruction(at: position) == replacement, "seed \(seed)")
        }
        let added = random.changeset(8).instructions
        for instruction in added { writer.append(instruction) }
        expected += added
        #expect(writer.instructionCount == expected.count)
        let fieldCount = writer.fieldCount
        let bytes = writer.finish(number: 1, base: 2, stamp: Stamp(microseconds: 3))
        let message = try WireChangeset(serializedBytes: bytes)
        #expect(try codec.decodeChangeset(bytes).instructions == expected, "seed \(seed)")
        #expect(fieldCount == Self.fieldCount(message), "seed \(seed)")
    }

    /// The number of fields, as readers count them: see ``WireShape``.
    private static func fieldCount(_ changeset: WireChangeset) -> Int {
        var count = 5
        for item in changeset.classes { count += 2 + item.columns.count }
        for item in changeset.instructions {
            count += 3 + (item.classPosition == 0 ? 0 : 1)
            let fields =
                switch item.operation {
                case .create(let fields), .set(let fields): fields
                default: WireFieldWrites()
                }
            count += (fields.columns.isEmpty ? 0 : 1) + fields.values.count + (fields.defaults.isEmpty ? 0 : 1)
        }
        return count
    }

    @Test("Long messages get multi-byte lengths")
    func lengths() throws {
        let index = try #require(schema.index(of: "Everything"))
        let column = try #require(schema[index].columnIndex("dataValue"))
        for count in [100, 110, 120, 127, 128, 16_370, 16_384, 3_000_000] {
            let reference = ObjectReference(classIndex: index, key: .objectId(ObjectId()))
            let changeset = Changeset(
                number: 1, base: 0, stamp: Stamp(microseconds: .max),
                instructions: [.set(reference, [FieldWrite(column: column, value: .data(Data(count: count)))])])
            let bytes = codec.encode(changeset)
            #expect(try WireChangeset(serializedBytes: bytes).serializedBytes() == bytes)
            #expect(try codec.decodeChangeset(bytes) == changeset)
        }
    }
}
