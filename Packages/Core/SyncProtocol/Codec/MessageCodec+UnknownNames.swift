internal import Foundation
internal import SwiftProtobuf
internal import TomboloChangesets
internal import TomboloModel

/// Changesets with names that the reader's schema lacks. They come from a device that was offline while the server's
/// model changed, or were queued by an app before its update.
extension MessageCodec {
    // MARK: On the server

    /// A changeset of an upload. The caller has checked the shape of its bytes. Names that the schema lacks cause only
    /// this changeset to be refused; see ``Changeset/defect``.
    func decodeUploaded(_ bytes: [UInt8], _ range: Range<Int>) throws(ProtocolError) -> Changeset {
        do throws(ProtocolError) {
            return try decodeChangeset(bytes, range)
        } catch {
            guard error.code == .badSchema else { throw error }
            let head = try decodeHead(bytes, range).changeset
            var result = Changeset(
                number: head.number, base: head.base, stamp: Stamp(microseconds: head.stampMicroseconds),
                instructions: [])
            var fingerprint = ChangesetFingerprint(number: result.number, stamp: result.stamp)
            do throws(ProtocolError) {
                try forEachInstruction(bytes, range) { item throws(ProtocolError) in
                    try add(item, head.classes, to: &fingerprint)
                }
            } catch {
                throw error.at("changeset \(head.number)")
            }
            result.defect = ChangesetDefect(
                refusal: Refusal(.invalid, "The changeset doesn't fit the server's schema: \(error.message.sentence)"),
                fingerprint: fingerprint.value)
            return result
        }
    }

    private func add(
        _ item: WireInstruction, _ classes: [WireChangesetClass], to result: inout ChangesetFingerprint
    ) throws(ProtocolError) {
        let names = try Self.item(at: item.classPosition, of: classes, "class")
        result.beginInstruction(className: names.name, key: try decode(item.key))
        func add(_ fields: WireFieldWrites) throws(ProtocolError) {
            for index in try Self.indices(of: fields) {
                result.addField(
                    try Self.item(at: fields.columns[index], of: names.columns, "property"),
                    try decode(fields.values[index]), isDefault: fields.isDefault(index))
            }
        }
        switch item.operation {
        case .create(let fields):
            result.addCreate(fieldCount: fields.columns.count)
            try add(fields)
        case .set(let fields):
            result.addSet(fieldCount: fields.columns.count)
            try add(fields)
        case .add(let addition):
            result.addAddition(
                try Self.item(at: addition.column, of: names.columns, "property"), amount: addition.amount)
        case .erase(true): result.addErase()
        case .erase, nil: throw ProtocolError(.malformed, "an instruction of unknown kind")
        }
    }

    private static func indices(of fields: WireFieldWrites) throws(ProtocolError) -> Range<Int> {
        guard fields.columns.count == fields.values.count else {
            throw ProtocolError(.malformed, "\(fields.values.count) values for \(fields.columns.count) properties")
        }
        return fields.columns.indices
    }

    private static func item<Item>(
        at position: UInt32, of items: [Item], _ what: String
    ) throws(ProtocolError) -> Item {
        guard position < items.count else {
            throw ProtocolError(.malformed, "\(what) \(position) of \(items.count)")
        }
        return items[Int(position)]
    }

    // MARK: On a device

    /// The part of a queued changeset that the app still knows, without writes to classes and properties that an update
    /// removed or whose type it changed. ``Changeset/queuedBytes`` then has the whole changeset.
    func decodeQueued(_ changeset: WireChangeset, _ bytes: [UInt8]) throws(ProtocolError) -> Changeset {
        var result = Changeset(
            number: changeset.number, base: changeset.base,
            stamp: Stamp(microseconds: changeset.stampMicroseconds), instructions: [])
        result.instructions.reserveCapacity(changeset.instructions.count)
        var isWhole = true
        for (index, item) in changeset.instructions.enumerated() {
            do throws(ProtocolError) {
                if let instruction = try known(item, changeset.classes, &isWhole) {
                    result.instructions.append(instruction)
                }
            } catch {
                throw error.at("instruction \(index)").at("changeset \(changeset.number)")
            }
        }
        if !isWhole { result.queuedBytes = bytes }
        return result
    }

    private func known(
        _ item: WireInstruction, _ classes: [WireChangesetClass], _ isWhole: inout Bool
    ) throws(ProtocolError) -> Instruction? {
        let names = try Self.item(at: item.classPosition, of: classes, "class")
        let key = try decode(item.key)
        guard let index = schema.index(of: names.name), let keyColumn = schema[index].primaryKey,
            (try? keyColumn.validate(key)) != nil
        else {
            isWhole = false
            return nil
        }
        let reference = ObjectReference(classIndex: index, key: key)
        switch item.operation {
        case .create(let fields): return .create(reference, try known(fields, names, index, &isWhole))
        case .set(let fields):
            let left = try known(fields, names, index, &isWhole)
            return left.isEmpty && !fields.columns.isEmpty ? nil : .set(reference, left)
        case .add(let addition):
            let name = try Self.item(at: addition.column, of: names.columns, "property")
            guard let column = schema[index].columnIndex(name), case .int = schema[index].columns[column].type else {
                isWhole = false
                return nil
            }
            return .add(reference, column: column, amount: addition.amount)
        case .erase(true): return .erase(reference)
        case .erase, nil: throw ProtocolError(.malformed, "an instruction of unknown kind")
        }
    }

    private func known(
        _ fields: WireFieldWrites, _ names: WireChangesetClass, _ classIndex: Int, _ isWhole: inout Bool
    ) throws(ProtocolError) -> [FieldWrite] {
        let item = schema[classIndex]
        var result: [FieldWrite] = []
        result.reserveCapacity(fields.columns.count)
        for index in try Self.indices(of: fields) {
            let name = try Self.item(at: fields.columns[index], of: names.columns, "property")
            let value = try decode(fields.values[index])
            guard let column = item.columnIndex(name),
                (try? item.columns[column].validate(
                    value, linkKeyType: schema.keyType(ofLink: item.columns[column]))) != nil
            else {
                isWhole = false
                continue
            }
            result.append(FieldWrite(column: column, value: value, isDefault: fields.isDefault(index)))
        }
        return result
    }

    /// The bytes of a changeset as first queued, with its current number and base.
    static func renumbered(_ bytes: [UInt8], _ changeset: Changeset) -> [UInt8] {
        // Can't fail, because the queue has read these bytes before.
        guard var message = try? WireChangeset(serializedBytes: bytes) else { return bytes }
        message.number = changeset.number
        message.base = changeset.base
        return serialize(message)
    }
}

extension WireFieldWrites {
    /// Whether the value at this position is the property's declared default.
    func isDefault(_ index: Int) -> Bool {
        let place = defaults.startIndex + (index >> 3)
        return place < defaults.endIndex && defaults[place] & (1 << UInt8(index & 7)) != 0
    }
}
