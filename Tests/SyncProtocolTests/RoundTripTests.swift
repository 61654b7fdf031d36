import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@Suite("Round trips")
struct RoundTripTests {
    let schema: Schema
    let codec: MessageCodec

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
    }

    @Test("Random messages round-trip", arguments: 1...300 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = RandomMessages(schema: schema, seed: seed)
        let up = random.clientMessage()
        #expect(try codec.decodeClientMessage(codec.encode(up)) == up, "seed \(seed)")
        let down = random.serverMessage()
        #expect(try codec.decodeServerMessage(codec.encode(down)) == down, "seed \(seed)")
        let changeset = random.changeset(Int64(seed))
        #expect(try codec.decodeChangeset(codec.encode(changeset)) == changeset, "seed \(seed)")
        let frame = random.frame()
        #expect(try codec.decodeBatchFrame(codec.encode(frame)) == frame, "seed \(seed)")
        let predicate = random.predicate()
        #expect(try codec.decodePredicate(codec.encode(predicate)) == predicate, "seed \(seed)")
        let set = random.subscriptions()
        #expect(try codec.decodeSubscriptionSet(codec.encode(set)) == set, "seed \(seed)")
    }

    @Test("Rows round-trip value by value, bit for bit")
    func rows() throws {
        var random = RandomMessages(schema: schema, seed: 77)
        for (index, item) in schema.classes.enumerated() {
            let key = try #require(item.primaryKeyIndex)
            let columns = [key] + item.columns.indices.filter { $0 != key }
            let rows = (0..<200).map { _ in random.row(index) }
            var block = RowBlock(schema: schema, classIndex: index, columns: columns, isWhole: true)
            for row in rows { block.append(row) }
            let frame = try codec.decodeBatchFrame(codec.encode(BatchFrame(sequence: 3, blocks: [block])))
            let received = try #require(frame.blocks.first)
            for (number, row) in rows.enumerated() {
                for (position, column) in columns.enumerated() {
                    let value = received.value(row: number, position: position, schema: schema)
                    #expect(value == row[column])
                    if case .double(let a) = value, case .double(let b) = row[column] {
                        #expect(a.bitPattern == b.bitPattern)
                    }
                }
            }
        }
    }

    @Test("Equal messages have equal bytes")
    func deterministic() {
        var first = RandomMessages(schema: schema, seed: 5)
        var second = RandomMessages(schema: schema, seed: 5)
        for number in 1...50 as ClosedRange<Int64> {
            #expect(codec.encode(first.changeset(number)) == codec.encode(second.changeset(number)))
        }
    }

    @Test("A 16 MiB value fits a message in either direction")
    func longestValue() throws {
        let index = try #require(schema.index(of: "Everything"))
        let column = try #require(schema[index].columnIndex("dataValue"))
        let data = Value.data(Data(repeating: 0xab, count: Value.maximumByteCount))
        let reference = ObjectReference(classIndex: index, key: .objectId(ObjectId()))
        let up = ClientMessage.upload([
            Changeset(
                number: 1, base: 0, stamp: Stamp(microseconds: 0),
                instructions: [.set(reference, [FieldWrite(column: column, value: data)])])
        ])
        #expect(try codec.decodeClientMessage(codec.encode(up)) == up)
        var block = RowBlock(schema: schema, classIndex: index, columns: [0, column], isWhole: false)
        var row = Row(schema[index].columns.map(\.type.zero))
        row[column] = data
        block.append(row)
        let down = ServerMessage.frame(BatchFrame(sequence: 0, blocks: [block]))
        #expect(try codec.decodeServerMessage(codec.encode(down)) == down)
    }

    @Test("A device and a gateway with different class positions understand each other by name")
    func otherPositions() throws {
        var classes = schema.classes.filter { $0.owner == nil }
        classes.append(
            ClassSchema(name: "Aardvark", columns: [Column(name: "_id", type: .uuid, isPrimaryKey: true)]))
        classes[2] = ClassSchema(
            name: "Tag",
            columns: [
                Column(name: "colour", type: .string), Column(name: "label", type: .string, isOptional: true),
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
            ])
        let other = try Schema(classes)
        let tag = try #require(schema.index(of: "Tag"))
        let otherTag = try #require(other.index(of: "Tag"))
        #expect(tag != otherTag)
        let sent = Changeset(
            number: 1, base: 2, stamp: Stamp(microseconds: 3),
            instructions: [
                .create(
                    ObjectReference(classIndex: tag, key: .int(7)), [FieldWrite(column: 1, value: .string("x"))])
            ])
        let received = try MessageCodec(schema: other).decodeChangeset(codec.encode(sent))
        #expect(
            received.instructions == [
                .create(
                    ObjectReference(classIndex: otherTag, key: .int(7)), [FieldWrite(column: 1, value: .string("x"))])
            ])
        var block = RowBlock(schema: schema, classIndex: tag, columns: [0, 1], isWhole: true)
        block.append(Row([.int(9), .null]))
        let frame = try MessageCodec(schema: other).decodeBatchFrame(
            codec.encode(BatchFrame(sequence: 0, blocks: [block])))
        #expect(frame.blocks.first?.columns == [2, 1])
        #expect(frame.blocks.first?.key(row: 0, schema: other) == .int(9))
    }
}
