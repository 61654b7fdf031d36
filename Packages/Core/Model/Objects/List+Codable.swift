extension List: Decodable where Element: Decodable {
    /// Decodes an array of elements.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { append(try container.decode(Element.self)) }
    }
}

extension List: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension LinkingObjects: Codable {
    /// Ignores the input, because links are stored in the objects that link.
    public init(from decoder: any Decoder) throws { self = ._defaultValue() }

    /// Encodes nil, because links are stored in the objects that link.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension KeyedDecodingContainer {
    /// Lets optional properties be absent from the input. Called by compiler-synthesised code.
    public func decode<Wrapped>(
        _ type: Persisted<Wrapped?>.Type, forKey key: Key
    ) throws -> Persisted<Wrapped?> where Wrapped: OptionalPersistable & Decodable {
        try decodeIfPresent(type, forKey: key) ?? Persisted()
    }

    /// Lets ``LinkingObjects`` be absent too.
    public func decode<Element>(
        _ type: Persisted<LinkingObjects<Element>>.Type, forKey key: Key
    ) throws -> Persisted<LinkingObjects<Element>> {
        try decodeIfPresent(type, forKey: key) ?? Persisted()
    }
}
