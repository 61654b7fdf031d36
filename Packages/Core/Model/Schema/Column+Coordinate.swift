extension Column {
    /// Which coordinate of a place on Earth a number is, in degrees (WGS 84).
    public enum Coordinate: String, Hashable, Sendable, CaseIterable {
        /// North positive.
        case latitude
        /// East positive.
        case longitude

        /// The valid degrees. Devices and SQL may write other values, which aren't shown as places.
        public var bounds: ClosedRange<Double> {
            switch self {
            case .latitude: -90...90
            case .longitude: -180...180
            }
        }
    }
}
