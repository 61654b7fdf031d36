import AdminService
import Foundation
import TomboloHTTP

/// What a list reads of bytes: how many they are, and what they begin with.
struct BytesBeginning {
    /// Images of more bytes aren't shown in lists as they are: a page has up to 200 rows, and a browser asks for each image by itself.
    static let maximumImageByteCount = 256 << 10
    /// Pixels of the square that an image in a list is fitted into, whatever its own size.
    static let imageSide = 48

    let byteCount: Int
    private let beginning: Data

    /// - Returns: nil for anything but the JSON that `ResourcePlan` makes of bytes of which only the beginning is read.
    init?(_ json: JSON?) {
        guard case .object(let members)? = json, case .int(let byteCount)? = members["byteCount"],
            case .string(let text)? = members["beginning"], let beginning = Data(base64Encoded: text)
        else { return nil }
        self.byteCount = Int(byteCount)
        self.beginning = beginning
    }

    /// Whether a list shows an image.
    /// - Parameter hasThumbnails: whether it shows small ones of large ones.
    func isShown(hasThumbnails: Bool) -> Bool {
        let limit = hasThumbnails ? Thumbnails.maximumByteCount : Self.maximumImageByteCount
        return byteCount <= limit && ImageType(beginning) != nil
    }
}
