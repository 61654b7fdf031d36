extension List: Decodable where Element: Decodable {
    /// From an array.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { append(try container.decode(Element.self)) }
    }
}

extension List: Encodable where Element: Encodable {
    /// As an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension LinkingObjects: Codable {
    /// Nothing is read: what links here is said by what links.
    public init(from decoder: any Decoder) throws { self = ._defaultValue() }

    /// As nil: what links here is said by what links.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension KeyedDecodingContainer {
    /// Optional properties may be left out of what an object is decoded from; the compiler's own code calls this.
    public func decode<Wrapped>(
        _ type: Persisted<Wrapped?>.Type, forKey key: Key
    ) throws -> Persisted<Wrapped?> where Wrapped: OptionalPersistable & Decodable {
        try decodeIfPresent(type, forKey: key) ?? Persisted()
    }

    /// As may what links here.
    public func decode<Element>(
        _ type: Persisted<LinkingObjects<Element>>.Type, forKey key: Key
    ) throws -> Persisted<LinkingObjects<Element>> {
        try decodeIfPresent(type, forKey: key) ?? Persisted()
    }
}
