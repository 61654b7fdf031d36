import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@Suite("Changesets with unknown names")
struct UnknownNamesTests {
    private let schema: Schema
    private let codec: MessageCodec
    private let sender: MessageCodec

    private static let key = Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
        sender = MessageCodec(
            schema: try Schema([
                ClassSchema(
                    name: "Tag",
                    columns: [
                        Self.key, Column(name: "label", type: .string, isOptional: true),
                        Column(name: "colour", type: .string), Column(name: "uses", type: .int(bits: 64)),
                    ]),
                ClassSchema(name: "Ghost", columns: [Self.key, Column(name: "name", type: .string)]),
                // Keyed by text here, but by number in the reader's schema.
                ClassSchema(name: "Room", columns: [Self.key]),
            ]))
    }

    private func reference(_ name: String) throws -> ObjectReference {
        ObjectReference(classIndex: try #require(sender.schema.index(of: name)), key: .int(7))
    }

    private func changeset(_ number: Int64, _ instructions: Instruction...) -> Changeset {
        Changeset(number: number, base: 3, stamp: Stamp(microseconds: 5), instructions: instructions)
    }

    private func label(_ text: String) -> FieldWrite { FieldWrite(column: 1, value: .string(text)) }

    /// The changesets as the reader decodes them from an upload.
    private func received(_ changesets: [Changeset]) throws -> [Changeset] {
        guard case .upload(let result) = try codec.decodeClientMessage(sender.encode(.upload(changesets))) else {
            throw ProtocolError(.malformed, "no upload")
        }
        return result
    }

    @Test("An unknown class, property or key type gets its changeset refused, and no other")
    func refused() throws {
        let tag = try reference("Tag")
        let all = [
            changeset(1, .set(tag, [label("a")])),
            changeset(2, .erase(try reference("Ghost"))),
            changeset(3, .set(tag, [label("b"), FieldWrite(column: 2, value: .string("red"), isDefault: true)])),
            changeset(4, .add(tag, column: 3, amount: 2)),
            changeset(5, .create(try reference("Room"), [])),
            changeset(6, .erase(tag)),
        ]
        let received = try received(all)
        #expect(received.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(received.map { $0.defect == nil } == [true, false, false, false, false, true])
        let messages = received.compactMap { $0.defect?.refusal }
        #expect(messages.allSatisfy { $0.code == .invalid })
        for (refusal, name) in zip(messages, ["'Ghost'", "'colour'", "'uses'", "key of a Room"]) {
            #expect(refusal.message.contains(name), "\(refusal.message)")
            #expect(refusal.message.suffix(2).count { ".?".contains($0) } == 1, "\(refusal.message)")
        }
        #expect(received.allSatisfy { $0.defect == nil || $0.instructions.isEmpty })
        #expect(received.map(\.base) == all.map(\.base))
    }

    @Test("A changeset with unknown names has the fingerprint that a reader who knows all names would compute")
    func fingerprint() throws {
        let tag = try reference("Tag")
        let all = [
            changeset(
                1, .create(tag, [label("a"), FieldWrite(column: 2, value: .string("red"), isDefault: true)]),
                .set(tag, [label("b")]), .add(tag, column: 3, amount: -2), .erase(try reference("Ghost"))),
            changeset(2, .set(try reference("Ghost"), [FieldWrite(column: 1, value: .string("Boo"))])),
        ]
        for (before, after) in zip(all, try received(all)) {
            #expect(after.defect != nil)
            #expect(after.fingerprint(in: schema) == before.fingerprint(in: sender.schema))
        }
    }

    @Test("A malformed part next to an unknown name still fails the message")
    func malformed() {
        let bytes = ProtobufWriter.message {
            $0.field(3) {
                $0.field(1) {
                    $0.field(1, 2)
                    $0.field(4) { $0.field(1, "Ghost") }
                    $0.field(5) {
                        $0.field(2) { $0.field(3, 2) }; $0.field(5) { $0.field(1, 9) }
                    }
                }
            }
        }
        let error = #expect(throws: ProtocolError.self) { try codec.decodeClientMessage(bytes) }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("changeset 1: instruction 0: property 9 of 0") == true, "\(error as Any)")
    }

    @Test("A queued changeset keeps its bytes, and the instructions the app still knows")
    func queued() throws {
        let tag = try reference("Tag")
        let old = changeset(
            4, .set(try reference("Ghost"), [FieldWrite(column: 1, value: .string("Boo"))]),
            .create(tag, [label("a"), FieldWrite(column: 2, value: .string("red"))]),
            .set(tag, [FieldWrite(column: 2, value: .string("blue"))]), .add(tag, column: 3, amount: 1), .erase(tag))
        let bytes = sender.encode(old)
        var read = try codec.decodeQueuedChangeset(bytes)
        let known = ObjectReference(classIndex: try #require(schema.index(of: "Tag")), key: .int(7))
        #expect(read.instructions == [.create(known, [label("a")]), .erase(known)])
        #expect(read.queuedBytes == bytes)
        // A reset changes only its number and base.
        (read.number, read.base) = (2, 9)
        let sent = try sender.decodeChangeset(codec.encode(read))
        #expect(sent == Changeset(number: 2, base: 9, stamp: old.stamp, instructions: old.instructions))
    }

    @Test("A value whose type the property no longer has is left out of a queued changeset")
    func retyped() throws {
        let item = ClassSchema(name: "Tag", columns: [Self.key, Column(name: "label", type: .int(bits: 64))])
        let old = MessageCodec(schema: try Schema([item]))
        let reference = ObjectReference(classIndex: 0, key: .int(1))
        let bytes = old.encode(
            changeset(1, .set(reference, [FieldWrite(column: 1, value: .int(5))]), .erase(reference)))
        let read = try codec.decodeQueuedChangeset(bytes)
        #expect(read.instructions.count == 1 && read.queuedBytes == bytes)
    }

    @Test("A queued changeset that the app fully knows doesn't keep its bytes as well as its instructions")
    func whole() throws {
        let tag = ObjectReference(classIndex: try #require(schema.index(of: "Tag")), key: .int(7))
        let whole = changeset(1, .create(tag, [label("a")]), .set(tag, []), .erase(tag))
        #expect(try codec.decodeQueuedChangeset(codec.encode(whole)) == whole)
    }
}
