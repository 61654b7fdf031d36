import Foundation

/// The encodings of points in one column.
enum PointsCoding {
    static func doubles(_ points: [Drawing.Point]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(points.count * 16)
        for point in points {
            withUnsafeBytes(of: point.x.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: point.y.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    static func points(doubles bytes: [UInt8]) -> [Drawing.Point] {
        bytes.withUnsafeBytes { raw in
            func double(_ offset: Int) -> Double {
                Double(bitPattern: UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            return stride(from: 0, to: raw.count - 15, by: 16).map {
                Drawing.Point(x: double($0), y: double($0 + 8))
            }
        }
    }

    static func json(_ points: [Drawing.Point]) -> String {
        "[" + points.map { "[\($0.x),\($0.y)]" }.joined(separator: ",") + "]"
    }

    static func points(json text: String) throws -> [Drawing.Point] {
        try JSONDecoder().decode([[Double]].self, from: Data(text.utf8)).map { Drawing.Point(x: $0[0], y: $0[1]) }
    }
}
