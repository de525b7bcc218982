import { Dialog, DialogTrigger, Modal, ModalOverlay, Button as Pressable } from "react-aria-components";
import { conversationTexts as t } from "../../texts/conversation";
import { safeHref, safeImage } from "./link";
import styles from "./Picture.module.css";

/** A picture that came in a message. A press shows it in full size; one on another host is a link. */
export function Picture({ mediaType, data, url, alt }: { mediaType: string; data?: string; url?: string; alt?: string }) {
  const name = alt || t.picture;
  if (data === undefined) {
    const href = url === undefined ? undefined : safeHref(url);
    return href ? (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {t.pictureElsewhere((alt || href).slice(0, 200))}
      </a>
    ) : (
      <span className={styles.note}>{name}</span>
    );
  }
  if (!safeImage(mediaType) || !/^[A-Za-z0-9+/=\s]*$/.test(data))
    return <span className={styles.note}>{t.pictureKind(mediaType.slice(0, 100))}</span>;
  const source = `data:${mediaType};base64,${data}`;
  return (
    <DialogTrigger>
      <Pressable className={styles.small} aria-label={t.pictureOpen(name)}>
        <img src={source} alt="" decoding="async" />
      </Pressable>
      <ModalOverlay className={styles.overlay} isDismissable>
        <Modal className={styles.modal}>
          <Dialog aria-label={name} className={styles.dialog}>
            {({ close }) => (
              <Pressable className={styles.large} onPress={close} aria-label={t.close}>
                <img src={source} alt={name} />
              </Pressable>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
