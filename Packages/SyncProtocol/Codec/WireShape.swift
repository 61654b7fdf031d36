internal import TomboloModel

/// Which fields of a message are messages again: enough to count fields and nesting before anything is allocated for
/// them. Two bytes of an empty nested message become a hundred bytes of memory, so that counts are checked first.
enum WireShape {
    case clientMessage, hello, subscriptionSet, subscription, predicate, predicateList, membership, upload
    case changeset, instruction, fieldWrites
    case serverMessage, batchFrame, rowBlock, batchEnd
    /// Scalars, or messages of a few scalars; counted by its own fields.
    case fields
    /// Packed columns: not looked into.
    case vector

    private func nested(_ number: UInt64) -> WireShape? {
        switch (self, number) {
        case (.clientMessage, 1): .hello
        case (.clientMessage, 2), (.hello, 5), (.hello, 6): .subscriptionSet
        case (.clientMessage, 3): .upload
        case (.hello, 8): .fields
        case (.subscriptionSet, 2): .subscription
        case (.subscription, 3), (.predicateList, 1), (.predicate, 7): .predicate
        case (.predicate, 5), (.predicate, 6): .predicateList
        case (.predicate, 2), (.predicate, 3), (.predicate, 4): .membership
        case (.upload, 1): .changeset
        case (.changeset, 4): .fields
        case (.changeset, 5): .instruction
        case (.instruction, 3), (.instruction, 4): .fieldWrites
        case (.serverMessage, 2): .batchFrame
        case (.serverMessage, 3): .batchEnd
        case (.batchFrame, 2): .rowBlock
        case (.batchFrame, 3): .fields
        case (.rowBlock, 5): .vector
        case (.batchEnd, 4): .fields
        default: nil
        }
    }

    /// Throws where a message has too many fields or nests too deeply, or is no Protocol Buffers message at all.
    func check(_ bytes: [UInt8], _ what: String) throws(ProtocolError) {
        var reader = WireReader(bytes)
        // Where each open message ends, the innermost last.
        var open: [(shape: WireShape, end: Int)] = [(self, bytes.count)]
        var count = 0
        while let (shape, end) = open.last {
            if reader.position == end {
                open.removeLast()
                continue
            }
            count += 1
            guard count <= MessageCodec.maximumFieldCount else {
                throw ProtocolError(
                    .tooLarge, "The \(what) has more than \(MessageCodec.maximumFieldCount) fields; send smaller ones.")
            }
            let start = reader.position
            guard let key = reader.key() else { throw Self.malformed(what, start) }
            switch key.type {
            case .varint: if reader.varint() == nil { throw Self.malformed(what, start) }
            case .fixed64: if !reader.skip(8) { throw Self.malformed(what, start) }
            case .fixed32: if !reader.skip(4) { throw Self.malformed(what, start) }
            case .bytes:
                guard let length = reader.varint() else { throw Self.malformed(what, start) }
                let from = reader.position
                guard reader.skip(length) else { throw Self.malformed(what, start) }
                if let inner = shape.nested(key.number), inner != .vector {
                    guard open.count < MessageCodec.maximumNesting else {
                        throw ProtocolError(
                            .tooLarge,
                            "The \(what) nests deeper than a query may: \(Predicate.maximumDepth) levels.")
                    }
                    guard reader.position <= end else { throw Self.malformed(what, start) }
                    open.append((inner, reader.position))
                    reader.rewind(to: from)
                }
            }
            // A field that ends outside its message.
            guard reader.position <= end else { throw Self.malformed(what, start) }
        }
    }

    private static func malformed(_ what: String, _ position: Int) -> ProtocolError {
        ProtocolError(.malformed, "The \(what) is cut short or garbled at byte \(position).")
    }
}
