extension Column {
    /// Which half of a place on Earth a number is, in degrees of WGS 84.
    public enum Coordinate: String, Hashable, Sendable, CaseIterable {
        /// North positive.
        case latitude
        /// East positive.
        case longitude

        /// The degrees that it can have. Devices and SQL may write others, which are not shown as places.
        public var bounds: ClosedRange<Double> {
            switch self {
            case .latitude: -90...90
            case .longitude: -180...180
            }
        }
    }
}
