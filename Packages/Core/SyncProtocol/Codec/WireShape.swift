internal import TomboloModel

/// Describes which fields of a message are themselves messages. That is enough to count fields, elements and nesting
/// before anything is allocated.
enum WireShape {
    case clientMessage, hello, subscriptionSet, subscription, predicate, predicateList, membership, upload
    case changeset, instruction, fieldWrites
    case serverMessage, batchFrame, rowBlock, batchEnd
    /// Scalars, or messages with a few scalars. Only their fields are counted.
    case fields
    /// Packed columns, which aren't inspected.
    case vector

    private func nested(_ number: UInt64) -> WireShape? {
        switch (self, number) {
        case (.clientMessage, 1): .hello
        case (.clientMessage, 2), (.hello, 5), (.hello, 6): .subscriptionSet
        case (.clientMessage, 3): .upload
        case (.hello, 8), (.hello, 9): .fields
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

    /// The element that a length-delimited field counts as.
    private func element(_ number: UInt64) -> WireElement? {
        switch (self, number) {
        case (.hello, 8): .helloClass
        case (.subscriptionSet, 2): .subscription
        case (.subscription, 3), (.predicateList, 1), (.predicate, 7), (.membership, 2): .queryPart
        case (.upload, 1): .changeset
        case (.changeset, 4): .changesetClass
        case (.changeset, 5): .instruction
        case (.fieldWrites, 2): .fieldValue
        case (.batchEnd, 4): .refusal
        default: nil
        }
    }

    /// The elements that are counted separately for each message of this shape.
    private var ownElements: [WireElement] {
        switch self {
        case .subscriptionSet: [.subscription, .queryPart]
        case .changeset: [.changesetClass]
        case .fieldWrites: [.fieldValue]
        default: []
        }
    }

    /// Throws if the message has too many fields or elements, nests too deeply, or isn't a Protocol Buffers message.
    func check(
        _ bytes: [UInt8], _ what: String, maximumFieldCount: Int = MessageCodec.maximumFieldCount
    ) throws(ProtocolError) {
        var reader = WireReader(bytes)
        // The end of each enclosing message, innermost last.
        var open: [(shape: WireShape, end: Int)] = [(self, bytes.count)]
        var count = 0
        var elements = [Int](repeating: 0, count: WireElement.allCases.count)
        while let (shape, end) = open.last {
            if reader.position == end {
                open.removeLast()
                continue
            }
            count += 1
            guard count <= maximumFieldCount else {
                throw ProtocolError(
                    .tooLarge, "The \(what) has more than \(maximumFieldCount) fields; send smaller ones.")
            }
            let start = reader.position
            // A field must end within its message.
            guard let field = reader.field(), field.content.upperBound <= end else {
                throw ProtocolError(.malformed, "The \(what) is truncated or corrupted at byte \(start).")
            }
            guard field.key.type == .bytes else { continue }
            if let element = shape.element(field.key.number) {
                elements[element.rawValue] += 1
                guard elements[element.rawValue] <= element.limit else {
                    throw ProtocolError(.tooLarge, element.refusal)
                }
            }
            guard let inner = shape.nested(field.key.number), inner != .vector else { continue }
            guard open.count < MessageCodec.maximumNesting else {
                throw ProtocolError(
                    .tooLarge, "The \(what) nests deeper than a query's maximum of \(Predicate.maximumDepth) levels.")
            }
            for element in inner.ownElements { elements[element.rawValue] = 0 }
            if inner == .subscriptionSet { try Self.checkSize(ofSet: field.content.count) }
            open.append((inner, field.content.upperBound))
            reader.rewind(to: field.content.lowerBound)
        }
    }

    private static func checkSize(ofSet byteCount: Int) throws(ProtocolError) {
        guard byteCount <= MessageCodec.maximumSubscriptionSetByteCount else {
            throw ProtocolError(
                .tooLarge,
                "A subscription set may have at most \(MessageCodec.maximumSubscriptionSetByteCount) bytes, not "
                    + "\(byteCount). Use fewer or shorter literals.")
        }
    }
}
