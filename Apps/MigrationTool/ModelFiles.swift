import Codemod
import Foundation

/// Finds, reads and replaces the files of `codemod`. A problem with one file is reported, and the others continue.
struct ModelFiles {
    private static let skipped: Set<String> = ["Pods", "Carthage", "DerivedData"]

    /// Whether any file couldn't be read or written.
    private(set) var hasFailed = false
    /// The bytes that were read, by path, so that nobody else's change is overwritten.
    private var contents: [String: Data] = [:]

    /// Writes a line to standard error.
    func tell(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

    private mutating func fail(_ path: String, _ problem: String, _ fix: String) {
        tell("\(path): error: \(problem) \(fix)")
        hasFailed = true
    }

    /// The Swift files at the given paths, each once, in the order of the paths. Those in a folder are sorted by
    /// name.
    mutating func read(_ paths: [String]) -> [SourceFile] {
        var seen: Set<String> = []
        var files: [SourceFile] = []
        for path in paths {
            for file in find(path) {
                let identity = URL(fileURLWithPath: file).standardizedFileURL.resolvingSymlinksInPath().path
                guard seen.insert(identity).inserted, let source = readFile(file) else { continue }
                files.append(source)
            }
        }
        return files
    }

    private mutating func find(_ path: String) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            fail(path, "There's no such file or folder.", "Check the path.")
            return []
        }
        guard isFolder.boolValue else { return [path] }
        var found: [String] = []
        var waiting = [path]
        while let folder = waiting.popLast() {
            let names: [String]
            do {
                names = try FileManager.default.contentsOfDirectory(atPath: folder)
            } catch {
                fail(folder, "Can't read the folder: \(error.localizedDescription)", "Check its permissions.")
                continue
            }
            for name in names where !name.hasPrefix(".") && !Self.skipped.contains(name) {
                let item = folder.hasSuffix("/") ? folder + name : folder + "/" + name
                let attributes = try? FileManager.default.attributesOfItem(atPath: item)
                switch attributes?[.type] as? FileAttributeType {
                case .typeDirectory?: waiting.append(item)
                case .typeRegular? where name.hasSuffix(".swift"): found.append(item)
                default: continue
                }
            }
        }
        return found.sorted()
    }

    private mutating func readFile(_ path: String) -> SourceFile? {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else {
            fail(path, "Not a regular file.", "Pass Swift files, or folders of them.")
            return nil
        }
        let size = (attributes?[.size] as? NSNumber)?.intValue ?? 0
        guard size <= Codemod.maximumBytes else {
            fail(path, "The file has \(size) bytes, more than \(Codemod.maximumBytes).", "Split it, or leave it out.")
            return nil
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            fail(path, "Can't read the file.", "Check its permissions.")
            return nil
        }
        guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
            fail(path, "The file isn't UTF-8 text and wasn't changed.", "Convert it, or leave it out.")
            return nil
        }
        contents[path] = data
        return SourceFile(path: path, text: text)
    }

    /// Replaces a file atomically, by writing a new one next to it.
    /// - Returns: whether the file was replaced. If not, it is unchanged, and the reason was reported.
    mutating func write(_ file: RewrittenFile) -> Bool {
        let target = URL(fileURLWithPath: file.path).resolvingSymlinksInPath()
        guard FileManager.default.contents(atPath: target.path) == contents[file.path] else {
            fail(file.path, "The file was changed in the meantime and wasn't rewritten.", "Run this again.")
            return false
        }
        guard FileManager.default.isWritableFile(atPath: target.path) else {
            fail(file.path, "The file isn't writable.", "Change its permissions.")
            return false
        }
        let temporary = target.deletingLastPathComponent()
            .appendingPathComponent(".\(target.lastPathComponent).\(UUID().uuidString)")
        do {
            let permissions = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
            try Data(file.text.utf8).write(to: temporary, options: .withoutOverwriting)
            if let permissions {
                try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: temporary.path)
            }
            guard rename(temporary.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
            return true
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            fail(
                file.path, "Can't write the file: \(error.localizedDescription)",
                "Check the folder's permissions and the free space on the disk.")
            return false
        }
    }
}
